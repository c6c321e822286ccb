import { measure } from '../../../../src/sms/segmentation.js';
import type { VendorReceipt } from '../../../../src/transports/http/index.js';
import { generic, type HttpVendor } from '../../../../src/transports/http/index.js';

/** The meaning of the bits of Kannel's report number. 4 (the SMSC queued it) and 8 (the SMSC took it) are not final. */
function statusOf(bits: number): VendorReceipt['status'] | undefined {
  if (bits & 1) return 'delivered';
  if (bits & 2) return 'undelivered';
  return bits & 16 ? 'failed' : undefined;
}

/** Kannel's sendsms interface as `docs/carriers.md` describes it: an answer without an id, and reports by our reference. */
export function kannelGateway(baseUrl: string): HttpVendor {
  return generic({
    name: 'kannel',
    baseUrl,
    request: ({ number, signature, text }, { callbackUrl, receiptReference }) => {
      const reports = { 'dlr-mask': '19', 'dlr-url': `${callbackUrl}?ref=${receiptReference}&state=%d` };
      const query = new URLSearchParams({
        username: 'test',
        password: 'secret',
        from: signature,
        to: number,
        text,
        charset: 'UTF-8',
        coding: measure(text).encoding === 'GSM-7' ? '0' : '2',
        ...(callbackUrl === undefined ? {} : reports),
      });
      return { method: 'GET', path: `/cgi-bin/sendsms?${query}` };
    },
    read: ({ status, text = '' }) =>
      status === 202 ? { accepted: true } : { code: text.startsWith('Not routable') ? 'not_routable' : undefined },
    errors: { permanent: ['not_routable'] },
    callback: {
      byGet: true,
      echoesReference: true,
      read: (content) => {
        const [reference, state] = [content.field('ref'), content.field('state')];
        if (reference === undefined || state === undefined) return undefined;
        const status = statusOf(Number(state));
        if (status === undefined) return {};
        return { receipts: [{ reference, status, ...(status === 'delivered' ? {} : { error: `kannel_${state}` }) }] };
      },
    },
  });
}
