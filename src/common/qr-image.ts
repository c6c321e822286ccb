import { toBuffer } from 'qrcode';

/** Little correction, since a screen is clean and the codes are long; dots large enough for any camera. */
const LOOK = { type: 'png', errorCorrectionLevel: 'L', margin: 4, scale: 6 } as const;

/** A code to scan as PNG. @param text at most 2953 bytes (ISO/IEC 18004) */
export function qrPng(text: string): Promise<Buffer> {
  return toBuffer(text, LOOK);
}

/** The same as a `data:` URL. */
export async function qrDataUrl(text: string): Promise<string> {
  return `data:image/png;base64,${(await qrPng(text)).toString('base64')}`;
}
