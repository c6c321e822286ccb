import type { OutgoingSms, SubmitResult, TellResult } from '../../../sms/sms-transport.js';
import { type Ending, Submission } from './submission.js';

/** The submissions of one batch, and what became of them all. */
export class SubmissionBatch {
  readonly submissions: readonly Submission[];
  /** In the order of the batch, once the last one is over. */
  readonly results: Promise<readonly SubmitResult[]>;

  /** @param tell is called for each as soon as it is over */
  constructor(batch: readonly OutgoingSms[], tell?: TellResult) {
    this.submissions = batch.map((sms) => new Submission(sms, tell));
    this.results = Promise.all(this.submissions.map(({ result }) => result));
  }

  /** Ends those of which nothing is on the wire, and the others as soon as that is so. */
  giveUp(ending: Ending, at: number): void {
    for (const submission of this.submissions) submission.giveUp(ending, at);
  }
}
