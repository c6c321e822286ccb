/** The set notation, which `\p{RGI_Emoji}` needs. */
const SETS = 'v';

/** One emoji as Unicode lists them, whatever code points it is made of. */
const EMOJI = new RegExp('^\\p{RGI_Emoji}$', SETS);

/** U+FE0F, which phones often leave out, asks for the colored form of a character such as a heart. */
const COLORED = '\uFE0F';

/** Whether a text is one emoji. */
export function isEmoji(text: string): boolean {
  return EMOJI.test(text) || EMOJI.test(text + COLORED);
}
