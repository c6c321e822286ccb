import { language, setLanguage, texts } from '../core/i18n.js';
import { type Theme, theme } from '../core/theme.js';

const t = texts(
  { language: 'Language', theme: 'Colours', system: 'System', light: 'Light', dark: 'Dark' },
  { language: 'Langue', theme: 'Couleurs', system: 'Système', light: 'Clair', dark: 'Sombre' },
);

const THEMES: readonly Theme[] = ['system', 'light', 'dark'];

/** The choice of language and colours. This browser remembers both. */
export function Choices() {
  return (
    <div class="choices">
      <label>
        <span class="hidden-text">{t('language')}</span>
        <select
          value={language.value}
          onInput={({ currentTarget }) => setLanguage(currentTarget.value === 'fr' ? 'fr' : 'en')}
        >
          <option value="en" lang="en" selected={language.value === 'en'}>
            English
          </option>
          <option value="fr" lang="fr" selected={language.value === 'fr'}>
            Français
          </option>
        </select>
      </label>
      <label>
        <span class="hidden-text">{t('theme')}</span>
        <select
          value={theme.value}
          onInput={({ currentTarget }) => {
            theme.value = THEMES.find((each) => each === currentTarget.value) ?? 'system';
          }}
        >
          {THEMES.map((each) => (
            <option key={each} value={each} selected={theme.value === each}>
              {t(each)}
            </option>
          ))}
        </select>
      </label>
    </div>
  );
}
