/**
 * A bounded queue of text that one side fills and the other side iterates; closing it ends the iteration after what is
 * queued. What has gathered since the reader last looked comes as one piece: a slow reader has fewer, larger writes.
 */
export interface Channel extends AsyncIterable<string> {
  /** False when the reader is too far behind: the text is lost and the channel closed. */
  push(text: string): boolean;
  close(): void;
  isClosed(): boolean;
}

export interface ChannelBounds {
  readonly textsMax: number;
  /** Characters that may wait behind the first text, which is taken whatever its size. */
  readonly charsMax: number;
}

export function createChannel({ textsMax, charsMax }: ChannelBounds, onClose: () => void): Channel {
  let texts: string[] = [];
  let charsBehind = 0;
  let closed = false;
  let resume: (() => void) | undefined;

  function close(): void {
    if (closed) return;
    closed = true;
    onClose();
    resume?.();
  }

  /** What has gathered, or the end; undefined when there is neither yet. */
  function take(): IteratorResult<string, undefined> | undefined {
    if (texts.length > 0) {
      const [first = ""] = texts;
      const value = texts.length === 1 ? first : texts.join("");
      texts = [];
      charsBehind = 0;
      return { done: false, value };
    }
    return closed ? over : undefined;
  }

  // Not a generator: one made here would come with a prototype and a hidden class of its own, which outlive many collections
  // of young garbage, and everything around them with them.
  const next = async (): Promise<IteratorResult<string, undefined>> => {
    for (;;) {
      const taken = take();
      if (taken !== undefined) return taken;
      await new Promise<void>((resolve) => {
        resume = resolve;
      });
      resume = undefined;
    }
  };
  const reader: AsyncIterator<string, undefined> = {
    next,
    async return() {
      close();
      texts = [];
      return over;
    },
  };

  return {
    push(text) {
      if (closed) return false;
      if (texts.length > 0) charsBehind += text.length;
      if (texts.length >= textsMax || charsBehind > charsMax) {
        texts = [];
        close();
        return false;
      }
      texts.push(text);
      resume?.();
      return true;
    },
    close,
    isClosed: () => closed,
    [Symbol.asyncIterator]: () => reader,
  };
}

const over = { done: true, value: undefined } as const;
