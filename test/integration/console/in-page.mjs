/** What runs in pages of the console: each function is sent there as it stands. */

/** Runs in the page: texts whose contrast with what is behind them is below 4.5 to 1 (WCAG 2.2, 1.4.3). */
export function unreadable() {
  const parts = (colour) => (colour.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r = 0, g = 0, b = 0]) => {
    const [x = 0, y = 0, z = 0] = [r, g, b].map((one) => {
      const share = one / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour[3] === undefined || colour[3] > 0) return colour;
    }
    return [255, 255, 255];
  };
  const texts = [...document.querySelectorAll('body *')].filter((element) => {
    const isOwn = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent?.trim());
    const isSvg = element.closest('svg') !== null || element.tagName === 'OPTION' || element.disabled;
    return isOwn && !isSvg && element.offsetParent !== null;
  });
  return texts.flatMap((element) => {
    const [a, b] = [luminance(parts(getComputedStyle(element).color)), luminance(behind(element))];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    return contrast < 4.5 ? [`${contrast.toFixed(1)}: ${element.textContent?.slice(0, 40)}`] : [];
  });
}

/** Runs in the page: controls without a name that can be heard. */
export function unnamed() {
  const controls = [...document.querySelectorAll('button, a[href], input, select, textarea, [tabindex="0"]')];
  return controls.flatMap((element) => {
    const labels = element.labels;
    const name = element.textContent?.trim() || element.getAttribute('aria-label') || labels?.[0]?.textContent?.trim();
    return name ? [] : [element.outerHTML.slice(0, 80)];
  });
}

/** How much wider than the screen the page is. */
export function overflow() {
  return document.documentElement.scrollWidth - innerWidth;
}

export function focusedText() {
  return document.activeElement?.textContent;
}

export function isFocusInMain() {
  return document.activeElement?.closest('main') !== null;
}

export function keepKey(key) {
  sessionStorage.setItem('cep.api-key', key);
}

export function goTo(place) {
  location.hash = place;
}

/** The page that stands there has a heading and what it asked for, or says why not. */
export function isShown() {
  const main = document.querySelector('main');
  const title = main?.querySelector('h1')?.textContent;
  return title != null && title !== 'Key' && main?.querySelector('.waiting') === null;
}

/** Buttons in tables of which a part is beyond the edge of the screen. */
export function cutButtons() {
  const isCut = (button) => button.getBoundingClientRect().right > innerWidth;
  return [...document.querySelectorAll('main table button')].filter(isCut).map((button) => button.textContent);
}

/** What can be used, apart from links inside a text, and is less than 24 pixels high, or wide and high (WCAG 2.2, 2.5.8). */
export function small() {
  const controls = [...document.querySelectorAll('button, a[href], input, select, textarea, summary')];
  return controls.flatMap((control) => {
    const { width, height } = control.getBoundingClientRect();
    const isSeen = control.offsetParent !== null && control.closest('svg') === null;
    return isSeen && (height < 24 || (control.tagName !== 'A' && width < 24)) ? [control.outerHTML.slice(0, 80)] : [];
  });
}

/** Numbers all that can be used, so that `focusedControl` can say which it is. Gives how many there are. */
export function numberControls() {
  const isSeen = (control) => control.checkVisibility() && !control.disabled;
  const controls = [...document.querySelectorAll('button, a[href], input, select, textarea, summary, [tabindex="0"]')].filter(isSeen);
  for (const [at, control] of controls.entries()) control.dataset.control = at;
  return controls.length;
}

/** The control that has the focus: its number, and whether it can be seen that it has it. Undefined where none has it. */
export function focusedControl() {
  const control = document.activeElement;
  if (control?.dataset.control === undefined) return undefined;
  const { outlineStyle, outlineWidth } = getComputedStyle(control);
  const { top, bottom } = control.getBoundingClientRect();
  const isSeen = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && bottom > 0 && top < innerHeight;
  return { number: Number(control.dataset.control), isSeen, html: control.outerHTML.slice(0, 80) };
}

/** What the focus is on, by its name. */
export function focusedName() {
  return document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent;
}

export function isFocusInDialog() {
  return document.activeElement?.closest('dialog') !== null;
}
