/** Which API server, whom it must prove to be, and what proves who we are. */
/** What proves who we are. Never printed, never logged. */
export interface Credential {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** PEM; both or neither. */
  readonly certificate?: string | undefined;
  readonly key?: string | undefined;
}

/** The header names the impersonated user, the key belongs to its certificate: both identify the credentials. */
export const isSameCredential = (a: Credential, b: Credential): boolean =>
  a.headers.authorization === b.headers.authorization && a.certificate === b.certificate;

export interface Credentials {
  current(): Promise<Credential>;
  /** The server did not accept this one: the next `current` gets a new one where there is a way to. */
  refused(credential: Credential): void;
  /** Where they are written down, for messages: `users[0].user.token in /home/me/.kube/config`. */
  readonly origin: string;
}

/** Asked for a connection to the server. Its URL may hold a password: never printed, never logged. */
export interface HttpProxy {
  readonly url: URL;
  /** Who we are to the proxy, if it is written in its URL. */
  readonly authorization?: string | undefined;
  /** Where it is written down: `HTTPS_PROXY in environment`. */
  readonly origin: string;
}

export interface Target {
  readonly server: URL;
  /** Absent: the server is reached directly. */
  readonly proxy?: HttpProxy | undefined;
  /** The namespace of the context or of the pod. */
  readonly namespace: string;
  /** The name the server's certificate must carry, when it is not the host of the URL. */
  readonly serverName?: string | undefined;
  /** Accept any certificate. */
  readonly insecure: boolean;
  /** The authorities to trust, as PEM; undefined: those Node trusts. */
  authority(): Promise<string | undefined>;
  readonly credentials: Credentials;
  readonly origin: { readonly server: string; readonly authority: string };
}

export type Environment = Readonly<Record<string, string | undefined>>;

export const bearerHeader = (token: string): Credential["headers"] => ({ authorization: `Bearer ${token.trim()}` });
