// A client of the years before v1, built from the last module whose client knows only v1beta1: it takes a snapshot, waits until
// it is ready, finds it in a list, deletes it, and waits until it is gone.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	v1beta1 "github.com/kubernetes-csi/external-snapshotter/client/v3/apis/volumesnapshot/v1beta1"
	clientset "github.com/kubernetes-csi/external-snapshotter/client/v3/clientset/versioned"
	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if len(os.Args) != 6 {
		fail(fmt.Errorf("usage: v1beta1-client KUBECONFIG NAMESPACE NAME CLAIM CLASS"))
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Args[1])
	if err != nil {
		fail(err)
	}
	clients, err := clientset.NewForConfig(config)
	if err != nil {
		fail(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := takeAndDelete(ctx, clients, os.Args[2], os.Args[3], os.Args[4], os.Args[5]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func takeAndDelete(ctx context.Context, clients clientset.Interface, namespace, name, claim, class string) error {
	snapshots := clients.SnapshotV1beta1().VolumeSnapshots(namespace)
	draft := &v1beta1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: namespace},
		Spec: v1beta1.VolumeSnapshotSpec{
			Source:                  v1beta1.VolumeSnapshotSource{PersistentVolumeClaimName: &claim},
			VolumeSnapshotClassName: &class,
		},
	}
	if _, err := snapshots.Create(ctx, draft, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := untilReady(ctx, clients, namespace, name); err != nil {
		return err
	}
	list, err := snapshots.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("ready, one of %d\n", len(list.Items))
	if err := snapshots.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	for {
		if _, err := snapshots.Get(ctx, name, metav1.GetOptions{}); errors.IsNotFound(err) {
			fmt.Println("gone")
			return nil
		} else if err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// The content must name the snapshot that names it, as this client reads both.
func untilReady(ctx context.Context, clients clientset.Interface, namespace, name string) error {
	for {
		snapshot, err := clients.SnapshotV1beta1().VolumeSnapshots(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		status := snapshot.Status
		if status == nil || status.ReadyToUse == nil || !*status.ReadyToUse || status.BoundVolumeSnapshotContentName == nil {
			time.Sleep(100 * time.Millisecond)
			continue
		}
		contents := clients.SnapshotV1beta1().VolumeSnapshotContents()
		content, err := contents.Get(ctx, *status.BoundVolumeSnapshotContentName, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if content.Spec.VolumeSnapshotRef.UID != snapshot.UID || content.Status == nil || content.Status.SnapshotHandle == nil {
			return fmt.Errorf("content %s is not that of snapshot %s", content.Name, name)
		}
		return nil
	}
}
