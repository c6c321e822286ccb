import type { Tag } from '../openapi/openapi-document.js';

/** The group of a messaging-app channel's operations. */
export const MSGAPP_TAG: Tag = {
  name: 'Messaging app',
  description:
    'Link a number by scanning a code, send texts and files from it, see what became of them. Each mounted channel has these routes under its own name.',
};
