import { PriorityQueue } from '../../../outbox/queue/priority-queue.js';
import type { Submission } from './submission.js';

/**
 * The submissions that wait until a link can take them, by priority. Submissions with accepted parts come before all others,
 * except for one-time passcodes, which never wait for the parts of a long text.
 */
export class WorkQueue {
  private readonly fresh = byPriority();
  private readonly begun = new Map<string, PriorityQueue<Submission>>();
  private readonly links: (() => void)[] = [];

  /** The number of submissions that wait. */
  get size(): number {
    const queues = [this.fresh, ...this.begun.values()];
    for (const queue of queues) queue.remove(({ over }) => over);
    return queues.reduce((sum, { size }) => sum + size, 0);
  }

  /** @param pump called when there is work */
  join(pump: () => void): void {
    this.links.push(pump);
  }

  add(submissions: readonly Submission[]): void {
    this.fresh.remove(({ over }) => over);
    for (const submission of submissions) this.fresh.push(submission);
    this.announce();
  }

  /** Returns a submission to the head of the queue, for any link that can submit it. */
  putBack(submission: Submission): void {
    const { carriedBy } = submission;
    if (submission.begun && carriedBy) this.ofRoute(carriedBy.route).push(submission);
    else this.fresh.putBack(submission);
    this.announce();
  }

  /** Returns a submission to the end of the queue, so that the next submission shows whether the carrier refuses all of them. */
  putBehind(submission: Submission): void {
    if (submission.begun) this.putBack(submission);
    else this.add([submission]);
  }

  /** Takes the next submission for a link of this route. */
  take(route: string): Submission | undefined {
    const begun = this.ofRoute(route);
    const first = firstOpen(begun);
    const fresh = firstOpen(this.fresh);
    const overtakes = fresh?.sms.priority === 'code' && first?.sms.priority !== 'code';
    return first && !overtakes ? begun.shift() : this.fresh.shift();
  }

  /** Calls the links in turn: the link that was called first last time is called last. */
  private announce(): void {
    const [first] = this.links.splice(0, 1);
    if (first) this.links.push(first);
    for (const pump of [...this.links]) pump();
  }

  private ofRoute(route: string): PriorityQueue<Submission> {
    const queue = this.begun.get(route) ?? byPriority();
    this.begun.set(route, queue);
    return queue;
  }
}

function byPriority(): PriorityQueue<Submission> {
  return new PriorityQueue(({ sms }) => sms.priority);
}

/** Returns the first submission of a queue that is not over. Submissions that are over are removed. */
function firstOpen(queue: PriorityQueue<Submission>): Submission | undefined {
  while (queue.first?.over) queue.shift();
  return queue.first;
}
