import { createHmac } from 'node:crypto';
import { CLOUD_APP, CLOUD_NUMBER, type GraphCall, type GraphDouble } from './graph-double.js';

/** A call of Meta. */
export interface MetaCall {
  /** Default: the secret of the app. */
  readonly secret?: string;
  /** Default: the double's number. */
  readonly phoneNumberId?: string;
  /** Default `messages`. */
  readonly field?: string;
}

/** Returns the body of a call. */
export function metaBody(value: object, { phoneNumberId = CLOUD_NUMBER.phoneNumberId, field }: MetaCall = {}): object {
  const metadata = { display_phone_number: '22670000001', phone_number_id: phoneNumberId };
  const change = { field: field ?? 'messages', value: { messaging_product: 'whatsapp', metadata, ...value } };
  return { object: 'whatsapp_business_account', entry: [{ id: '102290129340398', changes: [change] }] };
}

/** Returns the header that proves a call. */
export function metaSignature(body: string, secret: string = CLOUD_APP.appSecret): string {
  return `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
}

/** Returns a status of a message that the double has accepted. */
export function metaStatus(graph: GraphDouble, call: GraphCall, status: string, over: object = {}): object {
  return {
    id: graph.idOf(call),
    status,
    timestamp: String(Math.floor(Date.now() / 1000)),
    recipient_id: call.json?.to,
    biz_opaque_callback_data: call.json?.biz_opaque_callback_data,
    pricing: { billable: true, pricing_model: 'PMP', category: 'service' },
    ...over,
  };
}

/** Calls a service as Meta does. Returns the status of the answer. */
export async function callByMeta(url: string, value: object, how: MetaCall = {}): Promise<number> {
  const body = JSON.stringify(metaBody(value, how));
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': metaSignature(body, how.secret) };
  return (await fetch(`${url}/api/v1/msgapp/callbacks/cloud`, { method: 'POST', body, headers })).status;
}
