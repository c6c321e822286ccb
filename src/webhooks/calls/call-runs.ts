import type { CallAnswer, CallRecord, RecordedCall } from './call-records.js';

/** The most calls of a run. */
export const MAX_CALLS_OF_RUN = 256;

/** Calls that begin within this time may share a run, in milliseconds: a reader of a page looks so far back for those that it lacks. */
export const RUN_MS = 100;

/** The last digits of an id, which count the calls of a run. */
const PLACE_DIGITS = 3;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Calls that have been answered alike, one after the other. */
export class CallRuns {
  private made: (CallRecord & { readonly calls: RecordedCall[] })[] = [];
  /** The run that the next call may join. */
  private open: (CallRecord & { readonly calls: RecordedCall[] }) | undefined;

  get isEmpty(): boolean {
    return this.made.length === 0;
  }

  add(answer: CallAnswer, call: RecordedCall, newId: () => string): void {
    const { open } = this;
    if (open && isAlike(open, answer) && hasRoom(open.calls, call)) {
      open.calls.push(call);
      return;
    }
    const run = { id: newId(), ...answer, calls: [call] };
    this.made.push(run);
    // Failures are looked for one by one. The ids of a host's own generator have no digits to count with.
    this.open = answer.ok && UUID.test(run.id) ? run : undefined;
  }

  take(): readonly CallRecord[] {
    const { made } = this;
    this.made = [];
    this.open = undefined;
    return made;
  }
}

function isAlike(run: CallAnswer, { ok, status, error, reply }: CallAnswer): boolean {
  return run.ok === ok && run.status === status && run.error === error && run.reply === reply;
}

function hasRoom(calls: readonly RecordedCall[], { at }: RecordedCall): boolean {
  // Calls end in any order: the first to end bounds the others on both sides.
  const [first] = calls;
  return calls.length < MAX_CALLS_OF_RUN && first !== undefined && Math.abs(at - first.at) <= RUN_MS / 2;
}

/** The id under which a run is stored, from that of one of its calls. */
export function runIdOf(id: string): string {
  return UUID.test(id) ? id.slice(0, -PLACE_DIGITS) + '0'.repeat(PLACE_DIGITS) : id;
}

/** The id of a call, from that of its run; ids sort by place. */
export function callIdOf(runId: string, place: number): string {
  return runId.slice(0, -PLACE_DIGITS) + place.toString(16).padStart(PLACE_DIGITS, '0');
}
