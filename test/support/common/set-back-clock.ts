import { FakeClock } from '../../../src/testing/fake-clock.js';

/** A clock that somebody sets back. Its timers run on regardless, as the machine's do. */
export class SetBackClock extends FakeClock {
  private behindMs = 0;

  setBack(ms: number): void {
    this.behindMs += ms;
  }

  override now(): number {
    return super.now() - this.behindMs;
  }
}
