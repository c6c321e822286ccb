import type { Submission } from './submission.js';

/** Submissions that wait for a link with room, first in, first out; those with accepted parts precede all others. */
export class WorkQueue {
  private fresh: Submission[] = [];
  private readonly begun = new Map<string, Submission[]>();
  private readonly links: (() => void)[] = [];

  /** @param pump called when there is work */
  join(pump: () => void): void {
    this.links.push(pump);
  }

  add(submissions: readonly Submission[]): void {
    this.fresh = this.fresh.filter(({ over }) => !over).concat(submissions);
    this.announce();
  }

  /** Returns a submission to the head of the queue, for any link that can submit it. */
  putBack(submission: Submission): void {
    const { carriedBy } = submission;
    if (submission.begun && carriedBy) this.ofRoute(carriedBy.route).push(submission);
    else this.fresh.unshift(submission);
    this.announce();
  }

  /** The next submission for a link of this route. */
  take(route: string): Submission | undefined {
    return nextOpen(this.ofRoute(route)) ?? nextOpen(this.fresh);
  }

  /** Calls the links in turn: the link that was called first last time is called last. */
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

function nextOpen(list: Submission[]): Submission | undefined {
  for (let next = list.shift(); next; next = list.shift()) {
    if (!next.over) return next;
  }
  return undefined;
}
