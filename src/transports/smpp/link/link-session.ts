import type { SmppSession } from '../session/smpp-session.js';

/** What a link needs of a session. */
export type LinkSession = Pick<SmppSession, 'open' | 'submit' | 'ended' | 'close'>;

/** Connects and binds. @throws SessionBindError also when `signal` fires */
export type OpenSession = (signal: AbortSignal) => Promise<LinkSession>;
