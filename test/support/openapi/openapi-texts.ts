import { isDeepStrictEqual } from 'node:util';
import { fr } from '../../../src/common/text/catalogue.fr.js';
import type { WithExamples } from './openapi-reader.js';

/**
 * The example of an error answer that matches this answer: the same text, or the same except for a value that the
 * caller sent (`Numéro invalide : …`). Texts that name a field have an example for each field. Undefined if none
 * matches.
 */
export function exampleFor(answer: unknown, { examples = {} }: WithExamples): string | undefined {
  const message = messageOf(answer);
  // An answer that is not an error of ours is one of the examples.
  if (typeof message !== 'string') {
    return Object.entries(examples).find(([, { value }]) => isDeepStrictEqual(value, answer))?.[0];
  }
  const same = Object.entries(examples).find(([, { value }]) => messageOf(value) === message);
  if (same !== undefined) return same[0];
  return Object.entries(fr)
    .filter(([, template]) => template.includes('{') && patternOf(template).test(message))
    .map(([code]) => code.slice('error.'.length))
    .find((name) => Object.hasOwn(examples, name));
}

function messageOf(value: unknown): unknown {
  return typeof value === 'object' && value !== null && 'message' in value ? value.message : undefined;
}

function patternOf(template: string): RegExp {
  const literal = template.split(/\{\w+\}/).map((text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${literal.join('[^]+')}$`);
}
