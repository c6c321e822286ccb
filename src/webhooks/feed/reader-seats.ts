import { Injectable } from '@nestjs/common';
import { MessagingError } from '../../common/errors.js';

/** How many streams and waiting polls an account may have in this process. */
export const MAX_READERS = 10;

/** Counts the streams and waiting polls of each account and each operator (`countedAs`). */
@Injectable()
export class ReaderSeats {
  private readonly taken = new Map<string, number>();

  /**
   * Counts one more reader. The returned function gives the seat back; a second call does nothing.
   * @throws MessagingError `error.too_many_event_readers`
   */
  take(reader: string): () => void {
    const count = this.taken.get(reader) ?? 0;
    if (count >= MAX_READERS) throw new MessagingError('error.too_many_event_readers', { max: MAX_READERS }, 1);
    this.taken.set(reader, count + 1);
    let isIn = true;
    return () => {
      if (!isIn) return;
      isIn = false;
      const left = (this.taken.get(reader) ?? 1) - 1;
      if (left > 0) this.taken.set(reader, left);
      else this.taken.delete(reader);
    };
  }
}
