/**
 * Requests without a queue: a lease that is renewed too late is lost, so renewals have a connection of their own and no
 * limit. Behind a hundred writes a busy leader would lose its lease for being busy.
 */
export const isLeaseRequest = (path: string): boolean => path.startsWith("/apis/coordination.k8s.io/");
