/** How a session ended. */
export interface SessionEnd {
  /** For logs: no secrets, texts or numbers. */
  readonly reason: string;
  /** true: we closed it, or the SMSC unbound in good order. */
  readonly orderly: boolean;
}
