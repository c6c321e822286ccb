import { SystemClock } from 'nestjs-messaging';
import { PrefixedIds } from '../../prefixed-ids.js';

/** A clock that starts some days in the past and is moved forward, step by step, to now. Timers run at their usual speed. */
export class DemoClock extends SystemClock {
  /** @param behind how far it is behind, in milliseconds */
  constructor(private lag: number) {
    super();
  }

  get behind(): number {
    return this.lag;
  }

  /** @param time milliseconds since the epoch, not before the time that it shows and not after the machine's */
  set(time: number): void {
    this.lag = Math.max(super.now() - Math.max(time, this.now()), 0);
  }

  override now(): number {
    return super.now() - this.lag;
  }
}

/** Makes ids with the time of the demo's clock, because lists are sorted by id. */
export class DemoIds extends PrefixedIds {
  constructor(private readonly demoClock: DemoClock) {
    super();
  }

  override next(): string {
    // A UUID of version 7 begins with 48 bits of milliseconds.
    const [, high = '', low = '', rest = ''] = /^m-(.{8})-(.{4})(.*)$/.exec(super.next()) ?? [];
    const time = (Number.parseInt(high + low, 16) - this.demoClock.behind).toString(16).padStart(12, '0');
    return `m-${time.slice(0, 8)}-${time.slice(8)}${rest}`;
  }
}
