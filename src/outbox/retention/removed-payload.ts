import { keyedHash } from '../../common/secret.js';
import type { Payload } from '../payload.js';

/** A payload after the removal of its content. */
export interface RemovedPayload extends Payload {
  /** The HMAC-SHA256 of the text or caption; true without a secret, or if there was no text. */
  readonly removed: string | true;
  /** The first numbers, masked, if the recipients are removed too. */
  readonly numbers?: readonly string[];
  /** The service of a one-time code, which the keys of its records are made of. */
  readonly service?: string;
}

/**
 * Removes the content of a payload. A payload whose content was already removed stays as it is. It has no side effects.
 */
export type RemoveContent = (payload: Payload) => RemovedPayload;

export function isRemoved(payload: Payload): payload is RemovedPayload {
  return 'removed' in payload;
}

/** @param key the key of the HMAC; undefined: no HMAC of a removed text is kept */
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
