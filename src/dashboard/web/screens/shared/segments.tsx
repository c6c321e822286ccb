import { GSM7_COST } from '../../../../sms/gsm7.js';
import { measure, split } from '../../../../sms/segmentation.js';
import { texts } from '../../core/i18n.js';
import './segments.css';

const t = texts(
  {
    size: '{n} {n|segment|segments} · {encoding} · {used} of {capacity} characters',
    dear: 'The marked characters are not in the plain SMS alphabet (GSM-7), so a segment holds 70 characters instead of 160.',
    segment: 'Segment {n}',
  },
  {
    size: '{n} {n|segment|segments} · {encoding} · {used} caractères sur {capacity}',
    dear: 'Les caractères marqués ne sont pas dans l’alphabet SMS simple (GSM-7) : un segment en contient 70 au lieu de 160.',
    segment: 'Segment {n}',
  },
);

/** Returns how many characters fit into so many segments, in the alphabet of the text. */
function capacityOf(encoding: string, segments: number): number {
  const [single, part] = encoding === 'GSM-7' ? [160, 153] : [70, 67];
  return segments === 1 ? single : segments * part;
}

/** One line about the size of a text. */
export function TextSize({ of }: { readonly of: string }) {
  const { segments, encoding, codeUnits } = measure(of);
  return <>{t('size', { n: segments, encoding, used: codeUnits, capacity: capacityOf(encoding, segments) })}</>;
}

/** A text, cut into its segments. The characters that make it more expensive are marked. */
export function Segments({ of }: { readonly of: string }) {
  const { parts, encoding } = split(of);
  return (
    <div class="segments">
      {parts.map((part, index) => (
        <p key={index} class="segment" dir="auto" data-number={parts.length > 1 ? index + 1 : undefined}>
          {parts.length > 1 && <span class="hidden-text">{t('segment', { n: index + 1 })} </span>}
          {encoding === 'GSM-7' ? part : <Marked text={part} />}
        </p>
      ))}
      {encoding !== 'GSM-7' && <p class="hint">{t('dear')}</p>}
    </div>
  );
}

/** A text, cut into its segments, with one line about its size. */
export function SizedText({ of }: { readonly of: string }) {
  return (
    <>
      <Segments of={of} />
      <p class="hint">
        <TextSize of={of} />
      </p>
    </>
  );
}

/** A text with the characters marked that are not in GSM-7. */
function Marked({ text }: { readonly text: string }) {
  const runs: { readonly plain: boolean; text: string }[] = [];
  for (const character of text) {
    const plain = GSM7_COST[character.charCodeAt(0)] !== 0;
    const last = runs.at(-1);
    if (last?.plain === plain) last.text += character;
    else runs.push({ plain, text: character });
  }
  return <>{runs.map((run, index) => (run.plain ? run.text : <mark key={index}>{run.text}</mark>))}</>;
}
