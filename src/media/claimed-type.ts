/** What others say about a file. */
export interface MediaClaims {
  /** A `Content-Type` header as it came. */
  readonly contentType?: string | undefined;
  readonly fileName?: string | undefined;
}

/** RFC 9110 section 8.3.1: `type "/" subtype`, here with the length that RFC 6838 section 4.2 allows. */
const MEDIA_TYPE = /^[a-z0-9][a-z0-9!#$&^_.+-]{0,63}\/[a-z0-9][a-z0-9!#$&^_.+-]{0,63}$/;

/** Types that servers give to what they do not know. */
const SAYS_NOTHING = new Set([
  'application/octet-stream',
  'application/binary',
  'application/download',
  'application/force-download',
  'application/x-download',
  'application/unknown',
  'application/x-www-form-urlencoded',
  'binary/octet-stream',
]);

/** What people send, by the ends of its names. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  gif: 'image/gif',
  webp: 'image/webp',
  heic: 'image/heic',
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  '3gp': 'video/3gpp',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  amr: 'audio/amr',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  opus: 'audio/ogg; codecs=opus',
  wav: 'audio/wav',
  flac: 'audio/flac',
  pdf: 'application/pdf',
  txt: 'text/plain',
  csv: 'text/csv',
  vcf: 'text/vcard',
  ics: 'text/calendar',
  rtf: 'application/rtf',
  zip: 'application/zip',
  json: 'application/json',
  epub: 'application/epub+zip',
  doc: 'application/msword',
  xls: 'application/vnd.ms-excel',
  ppt: 'application/vnd.ms-powerpoint',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text',
  ods: 'application/vnd.oasis.opendocument.spreadsheet',
  odp: 'application/vnd.oasis.opendocument.presentation',
};

/** The media type that a file claims to be: its `Content-Type` where that says something, else by the end of its name. */
export function claimedType({ contentType, fileName }: MediaClaims): string | undefined {
  const stated = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (MEDIA_TYPE.test(stated) && !SAYS_NOTHING.has(stated)) return stated;
  const end = /\.([a-z0-9]{1,5})$/.exec(fileName?.toLowerCase() ?? '')?.[1];
  return end !== undefined && Object.hasOwn(BY_EXTENSION, end) ? BY_EXTENSION[end] : undefined;
}
