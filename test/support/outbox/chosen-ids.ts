import { UuidGenerator } from '../../../src/common/ids.js';

/** Ids as ever, and lots that a test chooses. */
export class ChosenIds extends UuidGenerator {
  /** Each draw takes the first one; without any it is a half. */
  lots: number[] = [];

  override random(): number {
    return this.lots.shift() ?? 0.5;
  }
}
