"""A report in headless Chromium, and what can be asked of it."""
import base64
import json
import time
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import WebDriverWait

# Notes every task that keeps the page from responding for 50 ms or more.
WATCH = """
window.longTasks = [];
new PerformanceObserver((list) => {
    for (const task of list.getEntries()) window.longTasks.push([task.startTime, task.duration]);
}).observe({ type: "longtask", buffered: true });
"""


class Report:
    """One report that is open."""

    def __init__(self, path, width=1200, height=1000, scheme="light", scripts=True):
        options = webdriver.ChromeOptions()
        for argument in ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--disable-dev-shm-usage", "--lang=en-GB"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)
        self.command = self.driver.execute_cdp_cmd
        self.url = Path(path).resolve().as_uri()
        self.resize(width, height)
        self.command("Emulation.setEmulatedMedia",
                     {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.command("Emulation.setScriptExecutionDisabled", {"value": not scripts})
        self.command("Page.addScriptToEvaluateOnNewDocument", {"source": WATCH})
        self.driver.get_log("performance")
        self.go("", scripts)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.driver.quit()

    def resize(self, width, height):
        self.command("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})

    def go(self, place, waits=True):
        """Opens the report afresh at a place such as '#entry-7'."""
        self.driver.get("about:blank")
        self.driver.get(self.url + place)
        if waits:
            self.until("document.documentElement.dataset.state === 'ready'", 120)

    def until(self, condition, seconds=20):
        WebDriverWait(self.driver, seconds, poll_frequency=0.05).until(
            lambda driver: driver.execute_script(f"return Boolean({condition})"), condition)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def value(self, expression, *arguments):
        return self.run(f"return {expression}", *arguments)

    def texts(self, selector):
        """What a reader sees of each element."""
        return self.value(
            "Array.from(document.querySelectorAll(arguments[0]), (each) => each.innerText)",
            selector)

    def press(self, *keys):
        self.driver.switch_to.active_element.send_keys(*keys)

    def filter(self, **fields):
        """Sets the filters by the names of their fields and waits for the result."""
        self.run("""
            resetFilters();
            for (const [id, value] of Object.entries(arguments[0])) {
                const field = document.getElementById(id);
                // Behind a choice stands how many entries it has.
                const option = Array.from(field.options ?? []).find((each) =>
                    each.textContent.replace(/ \\([\\d,]+\\)$/, "") === value);
                field.value = option ? option.value : value;
            }
            window.searched = false;
            changeFilters().then(() => { window.searched = true; });
        """, fields)
        self.until("window.searched")
        return self.value("[hits.entries.length, hits.changes]")

    def complaints(self):
        """What the console says, and every request but that for the file itself."""
        found = [line["message"] for line in self.driver.get_log("browser")]
        for line in self.driver.get_log("performance"):
            message = json.loads(line["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                url = message["params"]["request"]["url"]
                # Chromium's own picture for the field of a date is of the kind data.
                own = url.split("#")[0] in (self.url, "about:blank") or url.startswith("data:")
                if not own:
                    found.append(f"a request for {url}")
        return found

    def picture(self, path):
        Path(path).write_bytes(base64.b64decode(
            self.command("Page.captureScreenshot", {"format": "png"})["data"]))

    def paper(self, path):
        Path(path).write_bytes(base64.b64decode(self.command(
            "Page.printToPDF", {"preferCSSPageSize": True, "printBackground": False})["data"]))


__all__ = ["Keys", "Report", "time"]
