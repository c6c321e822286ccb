import type { OutgoingMedia } from '../../msgapp/msgapp-transport.js';

/**
 * The recipient of a message. A user id (`BR.1502576394655843`) must never be sent as a number: the API then drops the message
 * without an error.
 */
export type CloudRecipient = { readonly number: string } | { readonly userId: string };

/** A message from a template that Meta has approved. */
export interface CloudTemplate {
  readonly name: string;
  /** Meta's code of the language: `fr`, `en_US`. */
  readonly language: string;
  /** The values of the variables in the body, in their order. */
  readonly variables: readonly string[];
  /** The values of the buttons that have one, by the button's place from 0. */
  readonly buttons?: readonly CloudButton[] | undefined;
}

/** The value of a button. `url`: the end of its address. `quick_reply`: the text that comes back when somebody presses it. */
export interface CloudButton {
  readonly kind: 'url' | 'quick_reply';
  readonly index: number;
  readonly value: string;
}

/** Returns the fields of a text. */
export function textMessage(text: string): object {
  return { type: 'text', text: { body: text, preview_url: false } };
}

/**
 * Returns the fields of a file that was uploaded. Sounds have no caption, and only documents have a name.
 * @param id Meta's id of the file
 */
export function mediaMessage({ kind, fileName, caption }: OutgoingMedia, id: string): object {
  const text = caption === undefined ? {} : { caption };
  switch (kind) {
    case 'image':
      return { type: 'image', image: { id, ...text } };
    case 'video':
      return { type: 'video', video: { id, ...text } };
    case 'audio':
      return { type: 'audio', audio: { id } };
    case 'voice':
      return { type: 'audio', audio: { id, voice: true } };
    case 'document':
      return { type: 'document', document: { id, filename: fileName, ...text } };
  }
}

/** Returns the fields of a message from a template. */
export function templateMessage({ name, language, variables, buttons = [] }: CloudTemplate): object {
  const body = variables.length > 0 ? [{ type: 'body', parameters: variables.map(textParameter) }] : [];
  const components = [...body, ...buttons.map(buttonComponent)];
  return { type: 'template', template: { name, language: { code: language }, components } };
}

/** What a message of any kind may have. */
export interface CloudExtras {
  /** A text that Meta repeats in each status of the message. */
  readonly tag?: string | undefined;
  /** Meta's id of the message that this one answers and quotes. */
  readonly quoted?: string | undefined;
}

/** Returns the fields of the extras. */
export function extraFields({ tag, quoted }: CloudExtras): object {
  return {
    ...(tag === undefined ? {} : { biz_opaque_callback_data: tag }),
    ...(quoted === undefined ? {} : { context: { message_id: quoted } }),
  };
}

/** Returns the field that names the recipient. */
export function recipientField(to: CloudRecipient): object {
  return 'number' in to ? { to: to.number } : { recipient: to.userId };
}

function buttonComponent({ kind, index, value }: CloudButton): object {
  const parameter = kind === 'url' ? textParameter(value) : { type: 'payload', payload: value };
  return { type: 'button', sub_type: kind, index: String(index), parameters: [parameter] };
}

function textParameter(text: string): object {
  return { type: 'text', text };
}
