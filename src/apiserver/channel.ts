/** A bounded queue that one side fills and the other side iterates; closing it ends the iteration after what is queued. */
export interface Channel<T> extends AsyncIterable<T> {
  /** False when the reader is too far behind: the item is lost and the channel closed. */
  push(item: T): boolean;
  close(): void;
  readonly closed: boolean;
}

export function createChannel<T>(itemsMax: number, onClose: () => void): Channel<T> {
  const items: T[] = [];
  let closed = false;
  let wake: (() => void) | undefined;

  function close(): void {
    if (closed) return;
    closed = true;
    onClose();
    wake?.();
  }

  async function* read(): AsyncGenerator<T> {
    try {
      for (;;) {
        // Everything queued so far goes out before waiting again: one wake-up may serve many items.
        for (let at = 0; at < items.length; at += 1) yield items[at] as T;
        items.length = 0;
        if (closed) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        wake = undefined;
      }
    } finally {
      close();
    }
  }

  return {
    push(item) {
      if (closed) return false;
      if (items.length >= itemsMax) {
        items.length = 0;
        close();
        return false;
      }
      items.push(item);
      wake?.();
      return true;
    },
    close,
    get closed() {
      return closed;
    },
    [Symbol.asyncIterator]() {
      const reading = read();
      return {
        next: () => reading.next(),
        // A generator that has not begun ends without its `finally`.
        async return() {
          close();
          return reading.return(undefined);
        },
      };
    },
  };
}
