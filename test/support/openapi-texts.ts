import { fr } from '../../src/common/catalogue.fr.js';
import type { WithExamples } from './openapi-reader.js';

/**
 * Whether an error's text is among the examples of its answer: word for word, or but for a value that the caller sent
 * (`Numéro invalide : …`). Texts that name a field have an example for each field.
 */
export function isDescribedText(message: unknown, { examples = {} }: WithExamples): boolean {
  const texts = Object.values(examples).map(({ value }) => messageOf(value));
  if (texts.includes(message)) return true;
  return Object.entries(fr).some(([code, template]) => {
    const named = Object.hasOwn(examples, code.slice('error.'.length));
    return named && template.includes('{') && typeof message === 'string' && patternOf(template).test(message);
  });
}

function messageOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'message' in value ? value.message : undefined;
}

function patternOf(template: string): RegExp {
  const literal = template.split(/\{\w+\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^]+')}$`);
}
