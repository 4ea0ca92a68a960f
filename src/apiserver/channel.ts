/**
 * A bounded queue of text that one side fills and the other side iterates; closing it ends the iteration after what is
 * queued. What has gathered since the reader last looked comes as one piece: a slow reader has fewer, larger writes.
 */
export interface Channel extends AsyncIterable<string> {
  /** False when the reader is too far behind: the text is lost and the channel closed. */
  push(text: string): boolean;
  close(): void;
  readonly closed: boolean;
}

export function createChannel(textsMax: number, onClose: () => void): Channel {
  let texts: string[] = [];
  let closed = false;
  let wake: (() => void) | undefined;

  function close(): void {
    if (closed) return;
    closed = true;
    onClose();
    wake?.();
  }

  async function* read(): AsyncGenerator<string> {
    try {
      for (;;) {
        if (texts.length > 0) {
          const [first = ""] = texts;
          const piece = texts.length === 1 ? first : texts.join("");
          texts = [];
          yield piece;
          continue;
        }
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
    push(text) {
      if (closed) return false;
      if (texts.length >= textsMax) {
        texts = [];
        close();
        return false;
      }
      texts.push(text);
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
