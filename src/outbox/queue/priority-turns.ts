import { PRIORITIES, type Priority } from './priority.api.js';

/** The shares of the priorities. `code` has none, because it comes before all others. */
const SHARES: Readonly<Record<Exclude<Priority, 'code'>, number>> = { high: 8, normal: 4, bulk: 2 };

/**
 * Divides the places of batches between priorities. `code` comes first, and the others share 8 : 4 : 2. It counts over
 * several batches, so that the shares are right for batches of any size, even of one place.
 */
export class PriorityTurns {
  /**
   * @param credits the places that each waiting priority is still due, times the sum of the shares; negative if it got
   * places early
   */
  constructor(private readonly credits = new Map<Priority, number>()) {}

  copy(): PriorityTurns {
    return new PriorityTurns(new Map(this.credits));
  }

  /**
   * Divides places between the priorities with waiting deliveries. The others do not collect places for later.
   * @param places an integer, at least 0
   */
  divide(places: number, waiting: ReadonlySet<Priority>): ReadonlyMap<Priority, number> {
    if (waiting.has('code')) return new Map([['code', places]]);
    const sharing = PRIORITIES.filter((priority) => waiting.has(priority));
    const [only] = sharing;
    if (only && sharing.length === 1) return new Map([[only, places]]);
    const all = sharing.reduce((sum, priority) => sum + shareOf(priority), 0);
    const given = new Map<Priority, number>();
    for (let place = 0; place < places && all > 0; place++) {
      for (const priority of sharing) this.add(priority, shareOf(priority));
      const next = sharing.reduce((best, each) => (this.credit(each) > this.credit(best) ? each : best));
      this.add(next, -all);
      given.set(next, (given.get(next) ?? 0) + 1);
    }
    return given;
  }

  private credit(priority: Priority): number {
    return this.credits.get(priority) ?? 0;
  }

  private add(priority: Priority, credit: number): void {
    this.credits.set(priority, this.credit(priority) + credit);
  }
}

function shareOf(priority: Priority): number {
  return priority === 'code' ? 0 : SHARES[priority];
}
