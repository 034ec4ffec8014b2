package io.github.lockboot.sample.live;

import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.logging.Level;
import java.util.stream.Stream;
import javax.imageio.ImageIO;

import io.github.lockboot.fixture.Await;
import org.junit.jupiter.api.Assumptions;
import org.openqa.selenium.By;
import org.openqa.selenium.JavascriptExecutor;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;
import org.openqa.selenium.logging.LoggingPreferences;

/** A headless Chromium. */
final class Chromium implements AutoCloseable {

    private static final String CLICK = """
            const target = document.querySelector(arguments[0]);
            target.scrollIntoView({behavior: 'instant', block: 'center'});
            const {x, y, width, height} = target.getBoundingClientRect();
            const hit = target.contains(document.elementFromPoint(x + width / 2, y + height / 2));
            if (hit && !target.disabled) {
              target.click();
            }
            return hit && !target.disabled;
            """;

    private final ChromeDriver driver;

    private Chromium(Path browser, Path chromedriver, String language, boolean dark) {
        ChromeOptions options = new ChromeOptions();
        options.setBinary(browser.toFile());
        options.addArguments(
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
                "--accept-lang=" + language,
                "--lang=" + language);
        LoggingPreferences logs = new LoggingPreferences();
        logs.enable(LogType.BROWSER, Level.ALL);
        options.setCapability("goog:loggingPrefs", logs);
        driver = new ChromeDriver(
                new ChromeDriverService.Builder()
                        .usingDriverExecutable(chromedriver.toFile())
                        .withLogOutput(OutputStream.nullOutputStream())
                        .build(),
                options);
        show(dark);
    }

    void show(boolean dark) {
        driver.executeCdpCommand(
                "Emulation.setEmulatedMedia",
                Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"))));
    }

    /** Skips the test where no Chromium is installed. */
    static Chromium start(String language, boolean dark) {
        Optional<Path> browser = onPath("chromium", "chromium-browser", "google-chrome");
        Optional<Path> chromedriver = onPath("chromedriver");
        Assumptions.assumeTrue(
                browser.isPresent() && chromedriver.isPresent(),
                "The sample's page in a browser: no Chromium with chromedriver found;"
                        + " install chromium and chromium-driver");
        return new Chromium(browser.get(), chromedriver.get(), language, dark);
    }

    private static Optional<Path> onPath(String... names) {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.of(names)
                .flatMap(name -> Stream.of(path.split(File.pathSeparator)).map(folder -> Path.of(folder, name)))
                .filter(Files::isExecutable)
                .findFirst();
    }

    /** Opens a page in a window of that size and waits until it is live. */
    void open(String url, int width, int height) {
        resize(width, height);
        driver.get(url);
        Await.until(
                "the page is live",
                () -> "live".equals(driver.findElement(By.id("connection")).getDomAttribute("data-state"))
                        && !find("#locks .lock").isEmpty());
    }

    void resize(int width, int height) {
        driver.executeCdpCommand(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 500));
    }

    /**
     * Clicks on it once it can be clicked: a button is disabled for a moment whenever the page has no connection. In
     * one step of the page, which moves when the next snapshot arrives: the mouse would click on where it was.
     */
    void click(String css) {
        Await.until(css + " is enabled, and nothing covers it", () -> Boolean.TRUE.equals(script(CLICK, css)));
    }

    /** Empty if there is no such element now. */
    String text(String css) {
        return script("return document.querySelector(arguments[0])?.innerText ?? ''", css)
                .toString();
    }

    List<WebElement> find(String css) {
        return driver.findElements(By.cssSelector(css));
    }

    Object script(String script, Object... arguments) {
        return ((JavascriptExecutor) driver).executeScript(script, arguments);
    }

    /** What the page, or the browser about the page, has logged as an error. */
    List<String> errors() {
        return driver.manage().logs().get(LogType.BROWSER).getAll().stream()
                .filter(entry -> entry.getLevel().intValue() >= Level.SEVERE.intValue())
                .map(LogEntry::getMessage)
                .toList();
    }

    /** Takes a picture of what is in the window. */
    void picture(String name) throws IOException {
        Path folder = Files.createDirectories(Path.of(System.getProperty("sample.screenshots", "target/screenshots")));
        // Written again, which makes it much smaller.
        BufferedImage picture = ImageIO.read(new ByteArrayInputStream(driver.getScreenshotAs(OutputType.BYTES)));
        ImageIO.write(picture, "png", folder.resolve(name + ".png").toFile());
    }

    /** Takes a picture of the whole page, which must be this wide. */
    void pictureOfAll(String name, int width) throws IOException, InterruptedException {
        resize(width, ((Number) script("return document.documentElement.scrollHeight")).intValue());
        Thread.sleep(500); // the next snapshot draws the charts again
        picture(name);
    }

    @Override
    public void close() {
        driver.quit();
    }
}
