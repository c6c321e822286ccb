import type { PendingSession } from './session-view.js';

/** The answer to a connect: a session that waits to be linked, and where its codes are. */
export interface LinkOffer extends PendingSession {
  /** Its events; the token in it is all that is asked for there. */
  readonly qr_url: string;
}

/** @param connectUrl where the session was asked for: `…/web/connect` */
export function linkOffer({ expires_at, ...session }: PendingSession, connectUrl: string): LinkOffer {
  const qr_url = `${connectUrl.replace(/[^/]*\/?$/, '')}qr/${session.qrToken}`;
  return { ...session, qr_url, expires_at };
}
