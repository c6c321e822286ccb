import type { Clock } from '../../../common/clock.js';
import { type FaultLog, faultLog } from '../../../common/log.js';
import { CAPACITY_MS, RecentCount } from '../../../outbox/delivery/capacity.js';
import type { LinkState } from '../../../sms/carrier-state.js';
import type { OutgoingSms } from '../../../sms/sms-transport.js';
import type { SubmitAnswer, SubmitOutcome } from '../bind/submit-outcome.js';
import { provesRefusal } from '../command-status.js';
import type { ShortMessage } from '../pdu/pdu.js';
import type { SmppLinkSettings } from '../smpp-settings.js';
import { type LinkBind, LinkKeeper, type OpenBind } from './link-keeper.js';
import { decidePart } from './part-decision.js';
import type { RouteHealth } from './route-health.js';
import { SegmentRateLimiter } from './segment-rate-limiter.js';
import type { Submission } from './submission.js';
import type { WorkQueue } from './work-queue.js';

/**
 * If earlier parts were accepted, a part is submitted again after a temporary refusal. This is the delay before that, in
 * milliseconds.
 */
const LATER_MS = 1000;

/** The context that the links of a transport share. */
interface LinkContext {
  readonly queue: WorkQueue;
  readonly resendUnknown: boolean;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
  /** Cuts a message into the parts that this link submits. Returns none if the message cannot be encoded. */
  cut(sms: OutgoingSms, link: SmppLinkSettings): readonly ShortMessage[];
  /** Called when the link is bound or lost, or begins or ends to rest. */
  stateChanged(): void;
  /** Called for an answer to an SMS of one part that was reported as unknown. */
  answeredLate(sms: OutgoingSms, route: string, answer: SubmitAnswer, isRefused: boolean): void;
}

/** An answer to a submit that was about the bind or the route, not about the message. */
interface Interruption {
  readonly kind: 'bind' | 'route';
  readonly error: string;
  readonly code: string;
  readonly reason: string;
}

/** One link. While it is bound, it takes submissions as its window and rate allow, and records the result of each part. */
export class SmppLink {
  private readonly keeper: LinkKeeper;
  private readonly limiter: SegmentRateLimiter;
  private readonly faults: FaultLog;
  private readonly sends: boolean;
  private readonly recentlyTaken = new RecentCount();
  private onTheWire = 0;
  private cancelPump: (() => void) | undefined;

  constructor(
    readonly settings: SmppLinkSettings,
    private readonly shared: LinkContext,
    /** Shared with the other links of the route. */
    readonly health: RouteHealth,
    open: OpenBind,
  ) {
    const { clock, random, queue, stateChanged } = shared;
    const { name, reconnect, rate, bind } = settings;
    this.sends = bind.bindAs !== 'receiver';
    this.limiter = new SegmentRateLimiter(rate, clock.elapsed(), random);
    const onChange = () => {
      stateChanged();
      this.pump();
    };
    const onRefusal = (code: string) => {
      health.interrupted(`smpp: ${code}`);
      stateChanged();
    };
    this.faults = faultLog('SmppSmsTransport', clock);
    this.keeper = new LinkKeeper(name, reconnect, open, onChange, onRefusal, clock, random);
    health.listen(onChange);
    if (this.sends) queue.join(() => this.pump());
  }

  /** Whether the link can submit now. */
  get up(): boolean {
    return this.sends && this.keeper.bind !== undefined && !this.health.resting;
  }

  get state(): LinkState {
    const { bind, since } = this.keeper;
    const { window } = this.limiter;
    return { name: this.settings.name, state: bind ? 'up' : 'down', since, window, inFlight: this.onTheWire };
  }

  /** The number of parts that were submitted and not answered yet. */
  get unanswered(): number {
    return this.onTheWire;
  }

  /**
   * How many parts the link can submit within the next 250 ms, as its rate and window allow. We assume that the carrier answers
   * up to twice as many parts as within the last 250 ms, so that the estimate can grow.
   */
  get capacity(): number {
    if (!this.up) return 0;
    const now = this.shared.clock.elapsed();
    const free = Math.max(0, this.limiter.window - this.onTheWire);
    return Math.min(this.limiter.partsWithin(CAPACITY_MS, now), free + 2 * this.recentlyTaken.at(now));
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
    const { bind } = this.keeper;
    if (!bind || !this.up) return;
    while (this.onTheWire < this.limiter.window) {
      const waitMs = this.limiter.waitMs(clock.elapsed());
      if (waitMs > 0) {
        this.pumpIn(waitMs);
        return;
      }
      const submission = queue.take(this.settings.route);
      if (!submission) return;
      this.send(bind, submission);
    }
  }

  private pumpIn(ms: number): void {
    this.cancelPump?.();
    this.cancelPump = this.shared.clock.after(ms, () => this.pump());
  }

  private send(bind: LinkBind, submission: Submission): void {
    const { clock, cut } = this.shared;
    const now = clock.now();
    const { expiresAt, closesAt } = submission.sms;
    if (expiresAt !== undefined && expiresAt <= now && !submission.begun) {
      submission.notTakenFor({ kind: 'refused', error: 'expired', unasked: true }, now);
      return;
    }
    if (closesAt !== undefined && closesAt <= now && !submission.begun) {
      submission.giveUp({ error: 'window_closed', begunToo: false, until: now }, now);
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
    this.limiter.sent();
    void bind.submit(part).then((outcome) => {
      this.onTheWire--;
      this.conclude(bind, submission, outcome, sentAt);
      this.pump();
    });
  }

  /** @param sentAt by the clock's `elapsed` */
  private conclude(bind: LinkBind, submission: Submission, outcome: SubmitOutcome, sentAt: number): void {
    const { clock, queue } = this.shared;
    const now = clock.now();
    const decision = this.decide(submission, outcome);
    switch (decision.kind) {
      case 'taken':
        this.limiter.taken();
        this.health.taken();
        this.recentlyTaken.add(clock.elapsed());
        if (submission.taken(decision.id, now)) queue.putBack(submission);
        return;
      case 'again':
        if (decision.slower) this.limiter.slowDown(sentAt, clock.elapsed());
        if (outcome.kind === 'not-sent' ? submission.notSent(now) : submission.notTaken(now)) queue.putBack(submission);
        return;
      case 'later':
        submission.refusals++;
        if (submission.notTaken(now)) clock.after(LATER_MS, () => queue.putBack(submission));
        return;
      case 'bind':
      case 'route':
        this.interrupt(bind, decision, sentAt);
        if (submission.notSent(now)) queue.putBehind(submission);
        return;
      case 'unknown':
        this.limiter.stalled(sentAt, clock.elapsed());
        if (outcome.kind === 'unknown') this.awaitLate(bind, submission, outcome.late, sentAt);
        if (!this.shared.resendUnknown) submission.unknown(decision.error, now);
        else if (submission.inDoubt(now)) queue.putBack(submission);
        return;
      default:
        submission.notTakenFor(decision, now);
    }
  }

  private decide(submission: Submission, outcome: SubmitOutcome): ReturnType<typeof decidePart> {
    const { statuses } = this.settings;
    const { refusals, begun, sms } = submission;
    const state = { attempt: sms.attempt, begun, refusals: refusals + 1, toBlame: false };
    const decision = decidePart(outcome, state, statuses);
    if (decision.kind !== 'bind' && decision.kind !== 'route') return decision;
    if (!this.health.isToBlame(sms)) return decision;
    return decidePart(outcome, { ...state, toBlame: true }, statuses);
  }

  /** Closes the connection, or lets the route rest. It waits for the answers to written submits. */
  private interrupt(bind: LinkBind, { kind, error, code, reason }: Interruption, sentAt: number): void {
    const { name, route } = this.settings;
    this.limiter.stalled(sentAt, this.shared.clock.elapsed());
    if (kind === 'route') {
      if (this.health.rest(error, sentAt)) {
        const sentence = `Route ${route} rests: the carrier answers ${code} to a submit. ${reason}`;
        this.faults.error(sentence, { code, route });
      }
      return;
    }
    if (!bind.open) return;
    this.health.interrupted(error);
    const sentence = `Link ${name} binds again: the carrier answers ${code} to a submit. ${reason}`;
    this.faults.error(sentence, { code, route: name });
    void bind.close();
    this.shared.stateChanged();
  }

  /** Waits for the answer to a submit that has timed out. */
  private awaitLate(
    bind: LinkBind,
    { single, sms }: Submission,
    late: Promise<SubmitAnswer | undefined>,
    sentAt: number,
  ): void {
    const { settings, shared } = this;
    const { statuses, route } = settings;
    void late.then((answer) => {
      if (!answer) return;
      const { status } = answer;
      const isRefused = status !== 0 && provesRefusal(status, statuses);
      if (single && !shared.resendUnknown) shared.answeredLate(sms, route, answer, isRefused);
      const state = { attempt: 1, begun: false, refusals: 0, toBlame: false };
      const decision = decidePart({ kind: 'answered', ...answer }, state, statuses);
      if (decision.kind === 'bind' || decision.kind === 'route') this.interrupt(bind, decision, sentAt);
    });
  }
}
