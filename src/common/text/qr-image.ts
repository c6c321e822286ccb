/** Error correction is low, because screens are clean and the codes are long. 6 pixels per module suit any camera. */
const RENDER_OPTIONS = { type: 'png', errorCorrectionLevel: 'L', margin: 4, scale: 6 } as const;

/**
 * Renders a QR code as PNG.
 *
 * @param text at most 2953 bytes (ISO/IEC 18004)
 */
export async function qrPng(text: string): Promise<Buffer> {
  const { toBuffer } = await import('qrcode');
  return toBuffer(text, RENDER_OPTIONS);
}

/** As `qrPng`, as a `data:` URL. */
export async function qrDataUrl(text: string): Promise<string> {
  return `data:image/png;base64,${(await qrPng(text)).toString('base64')}`;
}
