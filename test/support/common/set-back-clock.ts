import { FakeClock } from '../../../src/testing/fake-clock.js';

/** A clock that a test sets back. Its timers keep running, as the machine's do. */
export class SetBackClock extends FakeClock {
  private behindMs = 0;

  setBack(ms: number): void {
    this.behindMs += ms;
  }

  override now(): number {
    return super.now() - this.behindMs;
  }
}
