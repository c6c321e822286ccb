import type { proto, WAMessage, WASocket } from 'baileys';
import type { IncomingMedia, IncomingMsgapp, MediaKind } from '../../msgapp/msgapp-transport.js';
import type { Baileys } from './baileys-library.js';
import { fileText } from './media-download.js';
import { addressOfSender } from './recipients.js';

/**
 * Reads a message that somebody wrote to the number. Undefined for messages from the number itself, and from groups, statuses,
 * broadcasts and channels. Also undefined for messages that we do not pass on: edits, deletions, polls, contacts, places,
 * settings.
 *
 * @param now milliseconds since the epoch, for a message without a time
 */
export async function incomingMessage(
  library: Baileys,
  socket: Pick<WASocket, 'signalRepository'>,
  { key, message, messageTimestamp, pushName }: WAMessage,
  now: number,
): Promise<IncomingMsgapp | undefined> {
  const { id, remoteJid: chat } = key;
  const content = contentOf(library, message);
  if (!id || !chat || key.fromMe || !content) return undefined;
  if (!library.isPnUser(chat) && !library.isLidUser(chat)) return undefined;
  const addresses = [chat, key.remoteJidAlt];
  const from = await numberOf(library, socket, addresses);
  const seconds = Number(messageTimestamp);
  const sender = { chat, from, identity: lidOf(library, addresses), name: pushName || undefined };
  return { id, ...sender, ...content, at: seconds > 0 ? seconds * 1000 : now };
}

type Content = Pick<IncomingMsgapp, 'kind' | 'text' | 'media' | 'refersTo'>;

function contentOf(library: Baileys, message: proto.IMessage | null | undefined): Content | undefined {
  // An edit has the new text in a separate message.
  if (!message || message.editedMessage) return undefined;
  const content = library.normalizeMessageContent(message);
  if (!content || content.protocolMessage) return undefined;
  const { reactionMessage: reaction, conversation, extendedTextMessage: extended } = content;
  if (reaction) {
    const { key, text } = reaction;
    const refersTo = key?.id ? { reference: key.id } : undefined;
    return { kind: 'reaction', text: text || undefined, refersTo };
  }
  const file = fileOf(content);
  if (file) return { ...file.content, refersTo: quotedBy(library, file.context) };
  const text = conversation || extended?.text;
  return text ? { kind: 'text', text, refersTo: quotedBy(library, extended?.contextInfo) } : undefined;
}

interface FileContent {
  readonly content: Content;
  readonly context: proto.IContextInfo | null | undefined;
}

function fileOf(content: proto.IMessage): FileContent | undefined {
  const { imageMessage, videoMessage, ptvMessage, documentMessage, audioMessage, stickerMessage } = content;
  const found: readonly (readonly [MediaKind, AnyFile | null | undefined])[] = [
    ['image', imageMessage ?? stickerMessage],
    ['video', videoMessage ?? ptvMessage],
    ['document', documentMessage],
    [audioMessage?.ptt ? 'voice' : 'audio', audioMessage],
  ];
  for (const [kind, file] of found) {
    if (!file) continue;
    const { caption, contextInfo } = file;
    return { content: { kind, text: caption || undefined, media: mediaOf(kind, file) }, context: contextInfo };
  }
  return undefined;
}

/** The common fields of messages with files. Only some have a caption or a name. */
interface AnyFile extends Pick<proto.Message.IImageMessage, 'mimetype' | 'fileLength' | 'mediaKey' | 'directPath'> {
  readonly caption?: string | null;
  readonly fileName?: string | null;
  readonly contextInfo?: proto.IContextInfo | null;
}

function mediaOf(kind: MediaKind, { mimetype, fileLength, fileName, mediaKey, directPath }: AnyFile): IncomingMedia {
  const size = fileLength === null || fileLength === undefined ? undefined : Number(fileLength);
  return {
    mimetype: mimetype ?? '',
    size,
    fileName: fileName ?? undefined,
    file: fileText({ kind, path: directPath ?? '', key: Buffer.from(mediaKey ?? []).toString('base64') }),
  };
}

/** Returns the message that a reply quotes. */
function quotedBy(library: Baileys, context: proto.IContextInfo | null | undefined): Content['refersTo'] {
  const { stanzaId, quotedMessage } = context ?? {};
  if (!stanzaId) return undefined;
  const quoted = library.normalizeMessageContent(quotedMessage ?? undefined) ?? {};
  const file = fileOf(quoted);
  const text = quoted.conversation || quoted.extendedTextMessage?.text || file?.content.text;
  return { reference: stanzaId, text: text || undefined };
}

/** Returns the LID among the addresses of a person, without the device. Undefined if the app gives none. */
function lidOf(library: Baileys, jids: readonly (string | null | undefined)[]): string | undefined {
  const lid = jids.find((jid) => jid && library.isLidUser(jid));
  return lid ? library.jidNormalizedUser(lid) : undefined;
}

/** Returns the first phone number among the addresses of a person. Undefined if the app gives none. */
async function numberOf(
  library: Baileys,
  socket: Pick<WASocket, 'signalRepository'>,
  jids: readonly (string | null | undefined)[],
): Promise<string | undefined> {
  for (const jid of jids) {
    const address = await addressOfSender(library, socket, jid).catch(() => undefined);
    if (address && library.isPnUser(address)) return library.jidDecode(address)?.user;
  }
  return undefined;
}
