import type { CallAnswer, CallRecord, RecordedCall } from './call-records.js';

/** How many calls a run may have. */
export const MAX_CALLS_OF_RUN = 256;

/**
 * Calls that begin within this time may share a run, in milliseconds. A reader of a page must look so far back for calls that it
 * may have missed.
 */
export const RUN_MS = 100;

/** How many of the last digits of an id count the calls of a run. */
const PLACE_DIGITS = 3;

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** Joins calls into runs, if they follow one another and have the same result. */
export class CallRuns {
  private made: (CallRecord & { readonly calls: RecordedCall[] })[] = [];
  /** The run that the next call may join. */
  private open: (CallRecord & { readonly calls: RecordedCall[] }) | undefined;

  get isEmpty(): boolean {
    return this.made.length === 0;
  }

  add(answer: CallAnswer, call: RecordedCall, newId: () => string): void {
    const { open } = this;
    if (open && isAlike(open, answer) && fits(open.calls, call)) {
      open.calls.push(call);
      return;
    }
    const run = { id: newId(), ...answer, calls: [call] };
    this.made.push(run);
    // A failure gets a row of its own, because readers search for failures. Ids of a host's own generator have no digits that
    // could count.
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

function fits(calls: readonly RecordedCall[], { at }: RecordedCall): boolean {
  // Calls end in any order, so a call must begin at most half of `RUN_MS` before or after the call that ended first.
  const [first] = calls;
  return calls.length < MAX_CALLS_OF_RUN && first !== undefined && Math.abs(at - first.at) <= RUN_MS / 2;
}

/** Returns the id under which a run is stored, from the id of one of its calls. */
export function runIdOf(id: string): string {
  return UUID.test(id) ? id.slice(0, -PLACE_DIGITS) + '0'.repeat(PLACE_DIGITS) : id;
}

/** Returns the id of a call, from the id of its run and its place. Ids sort by place. */
export function callIdOf(runId: string, place: number): string {
  return runId.slice(0, -PLACE_DIGITS) + place.toString(16).padStart(PLACE_DIGITS, '0');
}
