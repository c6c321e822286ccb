import { keyedHash } from '../../common/secret.js';
import type { Payload } from '../payload.js';

/** What is left of a payload whose content was removed. */
export interface RemovedPayload extends Payload {
  /** The HMAC-SHA256 of the text or caption; true without a secret, or where there was none. */
  readonly removed: string | true;
  /** The first numbers, masked, where the recipients are removed too. */
  readonly numbers?: readonly string[];
  /** The service of a one-time code, which the keys of its records are made of. */
  readonly service?: string;
}

/** Makes what is left of a payload. Pure; a removed payload stays as it is. */
export type RemoveContent = (payload: Payload) => RemovedPayload;

export function isRemoved(payload: Payload): payload is RemovedPayload {
  return 'removed' in payload;
}

/** @param key of the HMAC; undefined: texts leave nothing */
export function contentRemover(key: Uint8Array | undefined): RemoveContent {
  return (payload) => {
    if (isRemoved(payload)) return payload;
    const { kind, text, caption, service } = payload;
    const words = text ?? caption;
    return {
      kind,
      removed: key && typeof words === 'string' ? keyedHash(key, words) : true,
      ...(typeof service === 'string' ? { service } : {}),
    };
  };
}
