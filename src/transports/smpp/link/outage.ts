import type { Clock } from '../../../common/clock.js';

/** Without a link for so long, what has not begun goes back to the outbox, or to another carrier. Milliseconds. */
const NO_LINK_MS = 10_000;
/** A message of which parts were taken cannot start again: it waits so long for a link. */
const NO_LINK_FOR_BEGUN_MS = 60_000;

/** Notices when there has been no link for too long to keep anybody waiting. */
export class Outage {
  private cancel: (() => void) | undefined;
  private long = false;

  /** @param giveUp what waits is to be given up, at first only what has not begun */
  constructor(
    private readonly clock: Clock,
    private readonly giveUp: (begunToo: boolean) => void,
  ) {}

  /** Whether it is known that nothing can be sent for now. */
  get known(): boolean {
    return this.long;
  }

  /** There is no link that could submit. */
  begin(): void {
    this.cancel ??= this.clock.after(NO_LINK_MS, () => {
      this.long = true;
      this.giveUp(false);
      this.cancel = this.clock.after(NO_LINK_FOR_BEGUN_MS - NO_LINK_MS, () => this.giveUp(true));
    });
  }

  /** There is one again. */
  end(): void {
    this.cancel?.();
    this.cancel = undefined;
    this.long = false;
  }
}
