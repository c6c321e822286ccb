import type { ManagementClientOptions } from '../../../client/manage/index.js';
import { readServerTime } from './clock.js';
import { place } from './place.js';

/** The options that all clients of the page share. */
export const CLIENT_OPTIONS: ManagementClientOptions = {
  baseUrl: place.api,
  fetch: async (url, init) => {
    const response = await fetch(url, { ...init, cache: 'no-store' });
    readServerTime(response);
    return response;
  },
  // On its own origin the page leaves `Authorization` to the browser: behind a proxy with Basic authentication the browser puts
  // the proxy's credentials there. An API on another origin gets the header that its CORS rules know.
  tokenHeader: new URL(place.api).origin === location.origin ? 'x-user-token' : 'authorization',
  // The waits are short, because somebody waits in front of the screen. Screens that poll ask again anyway.
  retries: 2,
  maxPauseMs: 3000,
};
