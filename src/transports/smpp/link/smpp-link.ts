import type { Clock } from '../../../common/clock.js';
import type { OutgoingSms } from '../../../sms/sms-transport.js';
import type { ShortMessage } from '../pdu/pdu.js';
import type { SubmitAnswer, SubmitOutcome } from '../session/submit-outcome.js';
import type { SmppLinkSettings } from '../smpp-settings.js';
import { LinkKeeper, type LinkSession, type OpenSession } from './link-keeper.js';
import { SegmentRateLimiter } from './pace.js';
import type { Submission } from './submission.js';
import { verdictOn } from './verdict.js';
import type { WorkQueue } from './work-queue.js';

/** How long a part waits that the carrier could not take, when earlier ones of its message were taken. */
const LATER_MS = 1000;

/** What the links of a transport have in common. */
export interface LinkSurroundings {
  readonly queue: WorkQueue;
  readonly resendUnknown: boolean;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Cuts a message into what this link submits; nothing when it cannot be sent. */
  cut(sms: OutgoingSms, link: SmppLinkSettings): readonly ShortMessage[];
  /** The link was bound or lost. */
  changed(): void;
  /** An answer came to the only part of an SMS that was said to be unknown. */
  answeredLate(sms: OutgoingSms, route: string, answer: SubmitAnswer): void;
}

/** One link: takes work while it is bound, its window has room and its pace allows, and says what became of each part. */
export class SmppLink {
  private readonly keeper: LinkKeeper;
  private readonly pace: SegmentRateLimiter;
  private readonly sends: boolean;
  private onTheWire = 0;
  private cancelPump: (() => void) | undefined;

  constructor(
    readonly settings: SmppLinkSettings,
    private readonly shared: LinkSurroundings,
    open: OpenSession,
  ) {
    const { clock, random, queue, changed } = shared;
    const { name, reconnect, pace, session } = settings;
    this.sends = session.bindAs !== 'receiver';
    this.pace = new SegmentRateLimiter(pace, clock.elapsed(), random);
    const onChange = () => {
      changed();
      this.pump();
    };
    this.keeper = new LinkKeeper(name, reconnect, open, onChange, clock, random);
    if (this.sends) queue.join(() => this.pump());
  }

  /** Whether it could submit now. */
  get up(): boolean {
    return this.sends && this.keeper.session !== undefined;
  }

  start(): void {
    this.keeper.start();
  }

  async stop(): Promise<void> {
    this.cancelPump?.();
    await this.keeper.stop();
  }

  private pump(): void {
    const { clock, queue } = this.shared;
    const { session } = this.keeper;
    if (!session || !this.sends) return;
    while (this.onTheWire < this.pace.window) {
      const wait = this.pace.waitMs(clock.elapsed());
      if (wait > 0) {
        this.pumpIn(wait);
        return;
      }
      const submission = queue.take(this.settings.route);
      if (!submission) return;
      this.send(session, submission);
    }
  }

  private pumpIn(ms: number): void {
    this.cancelPump?.();
    this.cancelPump = this.shared.clock.after(ms, () => this.pump());
  }

  private send(session: LinkSession, submission: Submission): void {
    const { clock, cut } = this.shared;
    const now = clock.now();
    const { expiresAt } = submission.sms;
    if (expiresAt !== undefined && expiresAt <= now && !submission.begun) {
      submission.notTakenFor({ kind: 'refused', error: 'smpp: expired', unasked: true }, now);
      return;
    }
    const { name: link, route } = this.settings;
    const part = submission.send({ link, route }, () => cut(submission.sms, this.settings));
    if (!part) {
      submission.notTakenFor({ kind: 'refused', error: 'smpp: unsendable', unasked: true }, now);
      return;
    }
    this.onTheWire++;
    const sentAt = clock.elapsed();
    this.pace.sent();
    void session.submit(part).then((outcome) => {
      this.onTheWire--;
      this.conclude(submission, outcome, sentAt);
      this.pump();
    });
  }

  /** @param sentAt by the clock's `elapsed`, as the pace is */
  private conclude(submission: Submission, outcome: SubmitOutcome, sentAt: number): void {
    const { clock, queue } = this.shared;
    const now = clock.now();
    const { refusals, begun, sms } = submission;
    const verdict = verdictOn(outcome, { attempt: sms.attempt, begun, refusals: refusals + 1 });
    switch (verdict.kind) {
      case 'taken':
        this.pace.taken();
        if (submission.taken(verdict.id, now)) queue.putBack(submission);
        return;
      case 'again':
        if (verdict.slower) this.pace.slowDown(sentAt, clock.elapsed());
        if (outcome.kind === 'not-sent' ? submission.notSent(now) : submission.notTaken(now)) queue.putBack(submission);
        return;
      case 'later':
        submission.refusals++;
        if (submission.notTaken(now)) clock.after(LATER_MS, () => queue.putBack(submission));
        return;
      case 'unknown':
        this.pace.stalled(sentAt, clock.elapsed());
        if (!this.shared.resendUnknown) this.leaveUnknown(submission, outcome, verdict.error, now);
        else if (submission.inDoubt(now)) queue.putBack(submission);
        return;
      default:
        submission.notTakenFor(verdict, now);
    }
  }

  private leaveUnknown(submission: Submission, outcome: SubmitOutcome, error: string, now: number): void {
    submission.unknown(error, now);
    if (!submission.single || outcome.kind !== 'unknown') return;
    void outcome.late.then((answer) => {
      if (answer) this.shared.answeredLate(submission.sms, this.settings.route, answer);
    });
  }
}
