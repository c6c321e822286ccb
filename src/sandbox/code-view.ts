import { qrDataUrl } from '../common/qr-image.js';
import type { ShownCode } from './sandbox-scanner.js';

/** A code to scan as the sandbox's endpoints show it. */
export interface CodeView {
  readonly qr: string;
  /** PNG, `data:image/png;base64,…`. */
  readonly image: string;
  /** Name of the session's channel. */
  readonly channel: string;
  readonly sessionID: string;
}

/** The wire form of a code. */
export async function codeView({ qr, channel, sessionId }: ShownCode): Promise<CodeView> {
  return { qr, image: await qrDataUrl(qr), channel, sessionID: sessionId };
}
