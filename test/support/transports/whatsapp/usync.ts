import { jidDecode } from 'baileys';
import type { Directory } from './directory.js';
import type { Phone } from './phone.js';
import { bytesOf, child, type Stanza, stanza } from './stanza.js';

/** Answers which of the named users exist, which devices they have, and their other names. */
export function usync(question: Stanza, directory: Directory): Stanza {
  const asked = child(question, 'query').content;
  const topics = new Set(Array.isArray(asked) ? asked.map(({ tag }) => tag) : []);
  const users = child(question, 'list').content;
  const answers = (Array.isArray(users) ? users : []).map((user) => aboutUser(user, topics, directory));
  return stanza('usync', question.attrs, [stanza('result', {}), stanza('list', {}, answers)]);
}

function aboutUser(user: Stanza, topics: ReadonlySet<string>, directory: Directory): Stanza {
  const { jid } = user.attrs;
  const name = topics.has('contact')
    ? bytesOf(child(user, 'contact')).toString().replace(/\D/g, '')
    : jidDecode(jid)?.user;
  const phone = topics.has('contact') ? directory.contact(name ?? '') : directory.phone(name);
  const byLid = jid?.endsWith('@lid') ?? phone?.hidesNumber ?? false;
  const facts: Stanza[] = [];
  if (topics.has('contact')) facts.push(stanza('contact', { type: phone ? 'in' : 'out' }, `+${name}`));
  if (topics.has('devices') && phone) facts.push(stanza('devices', {}, [deviceList(phone, directory)]));
  if (topics.has('lid') && phone && !byLid) facts.push(stanza('lid', { val: phone.lid }));
  return stanza('user', { jid: (byLid ? phone?.lid : phone?.jid) ?? jid ?? `${name}@s.whatsapp.net` }, facts);
}

function deviceList(phone: Phone, directory: Directory): Stanza {
  const linked = directory
    .devicesOf(phone.number)
    .map(({ id }) => stanza('device', { id: String(id), 'key-index': String(id) }));
  return stanza('device-list', {}, [stanza('device', { id: '0' }), ...linked]);
}
