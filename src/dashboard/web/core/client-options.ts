import type { ManagementClientOptions } from '../../../client/manage/index.js';
import { hearTime } from './clock.js';
import { place } from './place.js';

/** How every client of the page reaches the API. */
export const CLIENT_OPTIONS: ManagementClientOptions = {
  baseUrl: place.api,
  fetch: async (url, init) => {
    const response = await fetch(url, { ...init, cache: 'no-store' });
    hearTime(response);
    return response;
  },
  // On its own origin the page leaves `Authorization` to the browser: behind a proxy with Basic authentication the browser puts
  // the proxy's credentials there. An API on another origin gets the header that its CORS rules know.
  tokenHeader: new URL(place.api).origin === location.origin ? 'x-user-token' : 'authorization',
  // Somebody waits in front of the screen. A screen that polls asks again by itself.
  retries: 2,
  maxPauseMs: 3000,
};
