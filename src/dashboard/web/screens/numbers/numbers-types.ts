/** A linked number, or one that was, or a code that waits. */
export interface SessionView {
  readonly sessionID: string;
  readonly status: string;
  readonly number: string | null;
  readonly created_at: string;
  readonly connected_at: string | null;
  readonly reason: string | null;
}
