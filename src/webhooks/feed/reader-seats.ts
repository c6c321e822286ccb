import { Injectable } from '@nestjs/common';
import { ConcurrencyLimit } from '../../common/concurrency/concurrency-limit.js';
import { MessagingError } from '../../common/errors.js';

/** How many streams and waiting polls an account may have in this process. */
export const MAX_READERS = 10;

/** Limits how many streams and waiting polls each account and each operator (`countedAs`) may have open at a time. */
@Injectable()
export class ReaderSeats extends ConcurrencyLimit {
  constructor() {
    super(MAX_READERS, () => new MessagingError('error.too_many_event_readers', { max: MAX_READERS }, 1));
  }
}
