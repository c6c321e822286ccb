import type { Clock } from '../../common/clock.js';
import type { CalledMsgapp, MsgappCallback, ReportedMsgapp } from '../../msgapp/msgapp-transport.js';
import { parseJson } from '../http/json-values.js';
import type { CloudSettings } from './cloud-options.js';
import { readTag } from './message-tag.js';
import { type CloudMessage, type CloudStatus, readWebhook } from './webhook-content.js';
import { challengeOf, isSigned } from './webhook-proof.js';

/** Makes the handler of Meta's calls. */
export function cloudCallback({ appSecret: secrets, verifyToken }: CloudSettings, clock: Clock): MsgappCallback {
  return async ({ method, query, headers, body }, store) => {
    if (method === 'GET') {
      const challenge = challengeOf(new URLSearchParams(query), verifyToken);
      return challenge === undefined ? { status: 403 } : { status: 200, body: challenge };
    }
    if (!isSigned(body, headers['x-hub-signature-256'], secrets)) return { status: 403 };
    const json = parseJson(Buffer.from(body).toString('utf8'));
    if (json === undefined) return { status: 400 };
    const { statuses, messages } = readWebhook(json, clock.now());
    await store({
      receipts: statuses.map((status) => receiptOf(status, secrets)),
      messages: messages.map(messageOf),
      notices: [],
    });
    return { status: 200 };
  };
}

function receiptOf(
  { phoneNumberId, reference, tag, status, error, at }: CloudStatus,
  secrets: readonly string[],
): ReportedMsgapp {
  const messageId = readTag(tag, phoneNumberId, secrets);
  const result = { reference, status, at, ...(error === undefined ? {} : { error }) };
  return messageId === undefined ? result : { ...result, messageId };
}

function messageOf({ phoneNumberId, file, ...message }: CloudMessage): CalledMsgapp {
  const media = file && {
    mimetype: file.mimetype,
    size: undefined,
    fileName: file.fileName,
    file: file.id,
  };
  return { address: phoneNumberId, message: { ...message, media } };
}
