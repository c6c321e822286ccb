import type { Submission } from './submission.js';

/** What waits for a link with room. First come, first served; a message that has begun goes before all that have not. */
export class WorkQueue {
  private fresh: Submission[] = [];
  private readonly begun = new Map<string, Submission[]>();
  private readonly links: (() => void)[] = [];

  /** @param pump is called when there is work */
  join(pump: () => void): void {
    this.links.push(pump);
  }

  add(submissions: readonly Submission[]): void {
    this.fresh = this.fresh.filter(({ over }) => !over).concat(submissions);
    this.announce();
  }

  /** Takes back what could not be sent, for whoever can, at the head of the queue. */
  putBack(submission: Submission): void {
    const { carriedBy } = submission;
    if (submission.begun && carriedBy) this.ofRoute(carriedBy.route).push(submission);
    else this.fresh.unshift(submission);
    this.announce();
  }

  /** The next one for a link of this route. */
  take(route: string): Submission | undefined {
    return firstLeft(this.ofRoute(route)) ?? firstLeft(this.fresh);
  }

  /** Whoever was asked last time first comes last this time. */
  private announce(): void {
    const [first] = this.links.splice(0, 1);
    if (first) this.links.push(first);
    for (const pump of [...this.links]) pump();
  }

  private ofRoute(route: string): Submission[] {
    const list = this.begun.get(route) ?? [];
    this.begun.set(route, list);
    return list;
  }
}

function firstLeft(list: Submission[]): Submission | undefined {
  for (let next = list.shift(); next; next = list.shift()) {
    if (!next.over) return next;
  }
  return undefined;
}
