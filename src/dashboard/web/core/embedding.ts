import { MessagingApiError } from '../../../client/index.js';
import { place } from './place.js';

/** Whether a page of the host shows this page in a frame and may give it sign-in links. */
export function isEmbedded(): boolean {
  return window.parent !== window && place.hosts.length > 0;
}

/** The types of the messages between the host's page and this page. */
const WANTED = 'nestjs-messaging:link-wanted';
const LINK = 'nestjs-messaging:link';

/** How long a host may take to get a link, in milliseconds. */
const PATIENCE = 20_000;

/**
 * Asks the embedding page for a new one-time link and waits for it. In a frame there is no cookie, so each renewal needs a link.
 * The host answers `{ type: 'nestjs-messaging:link', link }` to `{ type: 'nestjs-messaging:link-wanted' }`.
 * @throws MessagingApiError `timeout` if the embedding page does not answer
 */
export function linkFromHost(): Promise<string> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      removeEventListener('message', listen);
      reject(new MessagingApiError(0, 'timeout', 'The embedding page gave no link.'));
    }, PATIENCE);
    const listen = ({ origin, source, data }: MessageEvent<unknown>): void => {
      if (source !== window.parent || !place.hosts.includes(origin)) return;
      if (typeof data !== 'object' || data === null || !('type' in data) || data.type !== LINK) return;
      if (!('link' in data) || typeof data.link !== 'string') return;
      removeEventListener('message', listen);
      clearTimeout(timer);
      resolve(data.link.replace(/^.*#link=/, ''));
    };
    addEventListener('message', listen);
    // This message contains no secret, so any page may receive it.
    window.parent.postMessage({ type: WANTED }, '*');
  });
}
