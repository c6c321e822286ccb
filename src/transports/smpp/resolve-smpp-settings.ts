import { OptionReader } from './option-reader.js';
import { resolveLinkSettings } from './resolve-link-settings.js';
import type { SmppOptions } from './smpp-options.js';
import type { SmppSettings } from './smpp-settings.js';

const NAME = /^[a-z0-9_-]{1,32}$/;

const NAMES: Readonly<Record<keyof Required<SmppOptions>, true>> = { name: true, links: true, resendUnknown: true };

/** @throws MessagingOptionsError with a sentence that names the wrong option */
export function resolveSmppSettings(options: SmppOptions): SmppSettings {
  const reader = new OptionReader(options, 'smpp', NAMES);
  const name = reader.text('name', NAME, '1 to 32 characters of a-z 0-9 _ -', 'smpp');
  if (!Array.isArray(options.links) || options.links.length === 0) {
    reader.refuse('links', 'must be a list of at least one link');
  }
  const links = options.links.map((link, index) =>
    resolveLinkSettings(link, `smpp.links[${index}]`, name, index === 0 ? name : `${name}-${index + 1}`),
  );
  const names = links.map((link) => link.name);
  const twice = names.find((each, index) => names.indexOf(each) < index);
  if (twice !== undefined) reader.refuse('links', `has two links named ${twice}`);
  if (links.every(({ session }) => session.bindAs === 'receiver')) {
    reader.refuse('links', 'has receivers only: nothing could be sent');
  }
  return { name, resendUnknown: reader.boolean('resendUnknown', false), links };
}
