import { UuidGenerator } from '../../../src/common/ids.js';

/** Normal ids, and random numbers that a test chooses. */
export class ChosenIds extends UuidGenerator {
  /** Each draw takes the first one. If there is none, it is a half. */
  lots: number[] = [];

  override random(): number {
    return this.lots.shift() ?? 0.5;
  }
}
