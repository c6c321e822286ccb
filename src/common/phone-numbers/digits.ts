const DIGIT = /\p{Nd}/u;
const EACH_DIGIT = /\p{Nd}/gu;

/** Replaces the decimal digits of all scripts by `0` to `9`: `٧٠` and `７０` become `70`. */
export function asciiDigits(text: string): string {
  return text.replace(EACH_DIGIT, valueOfDigit);
}

/** The value of a decimal digit. Unicode keeps the digits of a script together and in order, so each run begins with a zero. */
function valueOfDigit(digit: string): string {
  const at = digit.codePointAt(0) ?? 0;
  let first = at;
  while (first > 0 && DIGIT.test(String.fromCodePoint(first - 1))) first--;
  return String((at - first) % 10);
}
