/**
 * Moves the focus to the title of the screen when the element that had it disappears, as the button of a removed row does.
 * Without this, users of the keyboard would start again at the top of the page.
 * @returns a function that ends it
 */
export function keepFocus(screen: HTMLElement): () => void {
  let focused: EventTarget | null = null;
  const onFocus = ({ target }: FocusEvent): void => {
    focused = target;
  };
  const observer = new MutationObserver(() => {
    if (!(focused instanceof Node) || focused.isConnected) return;
    focused = null;
    if (document.activeElement === document.body)
      document.getElementById('screen-title')?.focus({ preventScroll: true });
  });
  observer.observe(screen, { childList: true, subtree: true });
  screen.addEventListener('focusin', onFocus);
  return () => {
    observer.disconnect();
    screen.removeEventListener('focusin', onFocus);
  };
}
