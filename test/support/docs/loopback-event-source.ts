import { EventReader } from '../events/event-reader.js';

/** The part of a browser's EventSource that a page needs to follow one stream to its end. */
export class LoopbackEventSource {
  closed = false;
  private readonly listeners = new Map<string, (event: { readonly data: string }) => void>();

  constructor(url: string) {
    void this.follow(url);
  }

  addEventListener(type: string, listener: (event: { readonly data: string }) => void): void {
    this.listeners.set(type, listener);
  }

  close(): void {
    this.closed = true;
  }

  private async follow(url: string): Promise<void> {
    const stream = await EventReader.open(url);
    let sent = 0;
    while (!this.closed) {
      const [event] = stream.events.slice(sent);
      if (event) {
        sent++;
        this.listeners.get(event.type)?.({ data: JSON.stringify(event.data) });
      } else {
        const after = sent;
        await stream.until(() => stream.events.length > after);
      }
    }
    stream.leave();
  }
}
